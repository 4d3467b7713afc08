"""The rules that workers and their settings go by: slots, permits, retries, leases, verdicts. Pure, as all of this."""
