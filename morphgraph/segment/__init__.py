"""Every method that cuts words into tokens, and the registry of them."""
