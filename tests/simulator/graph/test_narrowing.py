"""A cast to 8 bits is a pass of its own, whatever the framework fuses."""

from simulator.config import RunConfig
from simulator.pipeline import graph_of, open_model


def test_casts_to_8_bits_are_fused_into_nothing_and_what_comes_before_stays() -> None:
    config = RunConfig(task="infer", batch=1, precision="fp8", partials="fp16", framework="poprt", system="c600:1")
    program, _ = open_model("zoo:resnet18", config)
    ops = graph_of(program, config).ops
    named = [ops.attributes[i].get("functions") for i in range(len(ops)) if ops.primitive[i] == "narrowed"]
    assert named
    assert all("relu" not in (functions or ()) for functions in named)
    assert any("relu" in (a.get("functions") or ()) for a in ops.attributes)
