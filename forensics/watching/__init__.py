"""Evidence that grows: the same scan again and again, and which of its findings are certain.

``evidence`` sees whether anything changed, ``certain`` decides what is reported, ``looks`` scans in turn.
"""
