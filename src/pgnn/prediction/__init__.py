"""Which links are missing: candidates, and the best of them."""
