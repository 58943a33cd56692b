"""A small training run, to be killed and resumed: CHECKPOINT [--kills N --seed S].

It writes a checkpoint after every epoch, resumes from it if there is one, prints a line per epoch,
and at last its numbers as JSON. With --kills, it first starts itself N times as a child and kills
it at a random moment of training. Children are forked, on one thread, when all is loaded: the
seconds this takes are spent once.
"""

import argparse
import hashlib
import json
import os
import random
import signal
import sys
import time

import torch

from pgnn.datasets.synthetic import communities
from pgnn.nn import DistanceDecoder, make_pgnn
from pgnn.training import fit as train
from pgnn.training.batches import Draws
from pgnn.training.recipe import FitSettings
from pgnn.training.splits import split_links

EPOCHS = 60
SECONDS_PER_EPOCH = 0.02


def run(checkpoint, *, epochs=EPOCHS):
    """Train and return every number that a resumed run must reproduce."""
    torch.set_num_threads(1)
    train._CHECKPOINT_SECONDS = -1.0  # after every epoch

    def progress(record):
        print(record.epoch, flush=True)
        time.sleep(SECONDS_PER_EPOCH)

    torch.manual_seed(0)
    model, decoder = make_pgnn("pgnn-e-2l", 1, hidden_channels=8), DistanceDecoder()
    course = train.fit(
        model,
        decoder,
        [split_links(communities(4, 6, rng=0), rng=0)],
        settings=FitSettings(epochs=epochs, eval_every=4, lr_drop=30, eval_draws=2),
        draws=Draws(),
        seed=1,
        checkpoint=checkpoint,
        resume=True,
        progress=progress,
    )
    weights = b"".join(p.detach().numpy().tobytes() for p in model.parameters())
    return {
        "history": [[e.epoch, e.loss, e.val_auc, e.test_auc] for e in course.history],
        "best": [course.best_epoch, course.val_auc, course.test_auc],
        "weights": hashlib.sha256(weights).hexdigest(),
    }


def killed_at_random(checkpoint, chance):
    """Start a child, kill it a random time after its first epoch; return that epoch, or None."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(write, sys.stdout.fileno())
        run(checkpoint)
        os._exit(0)  # never back into the parent's loop
    os.close(write)
    with os.fdopen(read) as lines:
        first = lines.readline()  # nothing, if an earlier child went through to the end
        if first:
            time.sleep(chance.uniform(0, 5 * SECONDS_PER_EPOCH))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    return int(first) if os.WIFSIGNALED(status) else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("checkpoint")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.kills:
        run(None, epochs=1)  # loads what is loaded at first use
    chance = random.Random(arguments.seed)
    starts = [killed_at_random(arguments.checkpoint, chance) for _ in range(arguments.kills)]
    print(json.dumps({**run(arguments.checkpoint), "starts": starts}))


if __name__ == "__main__":
    main()
