"""The only importer of boto3 and aiobotocore: adapters that implement `tidegate.ports`."""
