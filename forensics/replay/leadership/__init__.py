"""Leader epochs: who led them, with which ISR, from which offset on, and whether they went back."""
