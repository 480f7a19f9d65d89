"""The built-in agent that needs no model: it tidies a checkout, proves that nothing got worse, and reports the rest."""
