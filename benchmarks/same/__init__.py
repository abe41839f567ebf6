"""``make same``: every verdict and every finding of two versions of the code, on many selections of evidence.

*Before* is a revision of git, *after* the working tree. Both are copied to folders of their own and run in processes of
their own, on the same selections of evidence:

* ``corpus`` finds the recorded clusters; ``cuts`` removes parts of their evidence; ``runs`` draws runs of the model;
* ``side`` runs in a worker process and is the only module that calls ``forensics`` and ``parsers``;
* ``sides`` copies the two versions, starts the workers and keeps what they answered;
* ``differences`` compares the answers; ``accepted`` reads ``accepted.toml``, the list of differences that are right;
  ``__main__`` prints the others.

Selections are made from paths, line numbers and raw text alone, so both versions get the same bytes.
"""
