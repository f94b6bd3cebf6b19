"""The spot solver behind the browser's page: checked forms, one solve at a time, solutions as JSON."""
