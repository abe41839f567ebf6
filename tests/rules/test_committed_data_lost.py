"""The parts of the rule committed-data-lost: everything that may leave its answer open is asked."""

from __future__ import annotations

import inspect

from forensics.rules import committed_data_lost as rule


def test_each_question_about_a_partition_is_in_the_table() -> None:
    """A function of the rule that returns what is missing for a partition, and that no table names, asks nothing."""
    wanted = {"history": "History", "case": "Case", "return": "list[Want]"}
    asking = {
        name
        for name, function in inspect.getmembers(rule, inspect.isfunction)
        if function.__module__ == rule.__name__ and inspect.get_annotations(function) == wanted
    }
    assert asking == {one.__name__ for one in rule._WANTS}
