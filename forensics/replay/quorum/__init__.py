"""The metadata log of KRaft, ``__cluster_metadata-0``: a majority of voters elects its leaders (KIP-595)."""
