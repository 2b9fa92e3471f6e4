"""RNN-T for speech, as MLPerf Training's reference has it: two stacks of LSTM layers meet in a joint network.

Shapes: Graves 2012 (arXiv 1211.3711) with the sizes of mlcommons/training, rnn_speech_recognition/pytorch,
configs/baseline_v3-1023sp.yaml. The loss is the cross-entropy of every place of the joint grid instead of the
transducer's sum over alignments, whose scores it shares.
"""

from __future__ import annotations

from simulator.zoo.layers import dense, dropout
from simulator.zoo.lstm import lstm
from simulator.zoo.network import Network
from simulator.zoo.weights import Start


def build(
    *, features: int, frames: int, tokens: int, vocab: int, encoder: int, before: int, after: int, stacked: int,
    predictor: int, prediction_layers: int, joint: int, dropped: int,
) -> Network:  # fmt: skip
    """Inputs ``sound`` [batch, frames, features] and ``tokens`` [batch, tokens]; output ``scores`` [batch,
    frames / stacked, tokens + 1, vocab]."""
    net = Network("rnnt")
    with net.scope("encoder"):
        data = net.node("Transpose", "time", [net.input("sound", ("batch", frames, features))], perm=[1, 0, 2])
        for number in range(before):
            data = lstm(net, f"before{number}", data, encoder if number else features, encoder)
        data = _stacked(net, data, stacked, encoder)
        for number in range(after):
            data = lstm(net, f"after{number}", data, encoder if number else stacked * encoder, encoder)
        data = net.node("Transpose", "batch", [data], perm=[1, 0, 2])
        heard = dense(net, "joint", dropout(net, "dropout", data, dropped), (encoder, joint))
    with net.scope("predictor"):
        words = net.weight("words", (vocab - 1, predictor), Start("normal", 1.0))  # the blank is never an input
        data = net.node("Gather", "words.gather", [words, net.input("tokens", ("batch", tokens), "int32")], axis=0)
        data = net.node("Pad", "start", [data, net.constant([0, 1, 0, 0, 0, 0])])
        data = net.node("Transpose", "time", [data], perm=[1, 0, 2])
        for number in range(prediction_layers):
            data = lstm(net, f"layer{number}", data, predictor, predictor)
        data = net.node("Transpose", "batch", [data], perm=[1, 0, 2])
        said = dense(net, "joint", dropout(net, "dropout", data, dropped), (predictor, joint))
    with net.scope("joint"):
        rows = net.node("Unsqueeze", "frames", [heard, net.constant([2])])
        columns = net.node("Unsqueeze", "tokens", [said, net.constant([1])])
        grid = net.node("Relu", "relu", [net.node("Add", "add", [rows, columns])])
        scores = dense(net, "words", dropout(net, "dropout", grid, dropped), (joint, vocab))
    net.output("scores", scores, ("batch", frames // stacked, tokens + 1, vocab), loss="cross_entropy")
    return net


def _stacked(net: Network, data: str, factor: int, width: int) -> str:
    """``factor`` frames side by side: [time / factor, batch, factor * width]."""
    data = net.node("Transpose", "stack.batch", [data], perm=[1, 0, 2])
    data = net.node("Reshape", "stack", [data, net.constant([0, -1, factor * width])])
    return net.node("Transpose", "stack.time", [data], perm=[1, 0, 2])
