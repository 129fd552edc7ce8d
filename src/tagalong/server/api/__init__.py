"""The API: one table of operations, checks of requests, and the OpenAPI document."""
