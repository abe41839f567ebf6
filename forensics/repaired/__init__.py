"""A check after a repair: evidence taken after a repair, held against the findings of a scan before it.

``former`` reads these findings, ``conditions`` has what must hold before producers go back, and ``since`` puts both
together: which findings are gone, which are there still, and which conditions hold, with evidence.
"""
