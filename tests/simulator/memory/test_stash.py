"""What a pipeline keeps while micro-batches are in flight."""

from simulator.graph.graph import Role
from simulator.memory.stash import held, stashed
from tests.simulator.layers import WIDTH, config_of, laid, parts

HIDDEN = 32 * WIDTH * 2
SPLIT = {"splits": ["layer1.", "layer2.", "layer3."], "accumulation": 16}


def test_the_first_stage_holds_most_and_the_last_nothing_extra() -> None:
    found = laid(**SPLIT)
    config = config_of(**SPLIT)
    deep = [set(held(each.part, found.parallel, config).stash.values()) for each in found.planned]
    assert deep == [{6}, {4}, {2}, set()]


def test_schedules_hold_differently() -> None:
    copies = {}
    for schedule in ("grouped", "interleaved", "sequential"):
        found = laid(**SPLIT, schedule=schedule)
        stash = held(found.planned[0].part, found.parallel, config_of(**SPLIT, schedule=schedule)).stash
        copies[schedule] = max(stash.values(), default=0)
    assert copies == {"grouped": 6, "interleaved": 3, "sequential": 0}


def test_with_recomputation_only_what_enters_a_stage_is_stashed() -> None:
    for recompute, tensors in (("none", 2), ("stages", 1)):
        part = laid(**SPLIT, recompute=recompute).planned[1].part
        stash = stashed(part, lambda made, read, back: 4 * back)
        assert len(stash) >= tensors
        total = sum(int(part.graph.tensors.bytes[root]) for root in stash)
        assert (total == HIDDEN) == (recompute == "stages")


def test_what_a_later_stage_of_the_same_ipu_reads_waits_for_it() -> None:
    settings = {"splits": ["layer1.", "layer3."], "accumulation": 16, "stage_ipus": [0, 1, 0]}
    found = laid(**settings)
    part = found.planned[0].part
    labels = [root for root, role in enumerate(part.graph.tensors.role) if role == Role.LABEL]
    stash = held(part, found.parallel, config_of(**settings)).stash
    assert max(stash.values()) == 4
    assert all(stash.get(root, 0) == 0 for root in labels), "labels come from the host when the last stage wants them"


def test_in_inference_only_later_stages_make_things_wait() -> None:
    settings = {"task": "infer", "splits": ["layer2."], "device_iterations": 8}
    found = laid(**settings)
    assert all(held(each.part, found.parallel, config_of(**settings)).stash == {} for each in found.planned)


def test_the_stash_counts_in_memory_all_the_time() -> None:
    found = parts(**SPLIT, recompute="stages")
    first = found.classes[1].memory
    assert int(first.by_tile["stash"].sum()) == 4 * HIDDEN
    assert first.always_live >= 4 * HIDDEN
