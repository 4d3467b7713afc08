"""The SDK: consumer, leases, drain, telemetry."""
