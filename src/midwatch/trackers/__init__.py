"""Where work lives outside. Nothing yet: issue trackers come with a later title."""
