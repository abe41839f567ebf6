"""Excerpts: some lines of brokers' logs as people paste them into tickets, mails and chats.

An excerpt is small. Its lines are in quotes, lists, fences or escapes, some lines are left out, and prose is between
them. ``pieces`` splits such a text into sources whose lines are those of a log again; ``reading`` reads one of them.
Each way of dressing lines is a row of a table: ``dressings`` (around a line), ``escapes`` (of the whole text),
``times`` (edited time stamps), ``kinds`` (fences and marks for lines that are left out).
"""

from __future__ import annotations
