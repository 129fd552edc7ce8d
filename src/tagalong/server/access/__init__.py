"""Who may make requests: tokens, log-ins, and checks of where a request comes from."""
