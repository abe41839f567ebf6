"""Mutated evidence, scanned whole: nothing may crash or hang, and damage may not pose as proof."""
