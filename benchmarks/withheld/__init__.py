"""Recorded clusters of which evidence is withheld: does the rest lead to an answer that the whole evidence denies?"""
