"""Adam: the same steps as torch's optimizers, and it goes on from a state to the bit."""

import pytest
import torch

from pgnn.training.adam import Adam


def case():
    generator = torch.Generator().manual_seed(0)
    start = [torch.randn(3, 4, generator=generator), torch.randn(4, generator=generator)]
    target = torch.randn(2, 4, generator=generator)
    return start, target, torch.randn(2, 3, generator=generator)


def copies(tensors):
    return [p.clone().requires_grad_() for p in tensors]


def add_gradients(parameters, x, target):
    weight, bias = parameters
    ((x @ weight + bias - target) ** 2).sum().backward()


@pytest.mark.parametrize("decoupled", [False, True])
def test_adam_steps_as_torch_does(decoupled):
    start, target, x = case()
    ours, theirs = copies(start), copies(start)
    optimizer = Adam(ours, weight_decay=0.1, decoupled=decoupled, decayed=[True, False])
    reference = (torch.optim.AdamW if decoupled else torch.optim.Adam)(
        [{"params": theirs[:1], "weight_decay": 0.1}, {"params": theirs[1:], "weight_decay": 0.0}]
    )
    for rate in (0.1, 0.05, 0.01):
        add_gradients(ours, x, target)
        add_gradients(theirs, x, target)
        optimizer.step(rate)
        for group in reference.param_groups:
            group["lr"] = rate
        reference.step()
        reference.zero_grad()
    torch.testing.assert_close(ours, theirs)
    assert all(p.grad is None for p in ours)


def test_parameter_without_gradient_stays_as_it_is():
    start, target, x = case()
    unused = torch.ones(2, requires_grad=True)
    parameters = [*copies(start), unused]
    optimizer = Adam(parameters, weight_decay=0.5)
    add_gradients(parameters[:2], x, target)
    optimizer.step(0.1)
    assert unused.tolist() == [1, 1]
    assert not torch.equal(parameters[0], start[0])


def test_adam_goes_on_from_its_state_to_the_bit():
    start, target, x = case()
    whole, first = copies(start), copies(start)
    optimizer = Adam(whole, weight_decay=0.1)
    for _ in range(6):
        add_gradients(whole, x, target)
        optimizer.step(0.1)
    before = Adam(first, weight_decay=0.1)
    for _ in range(3):
        add_gradients(first, x, target)
        before.step(0.1)
    second = copies([p.detach() for p in first])
    after = Adam(second, weight_decay=0.1)
    after.load_state({name: tensor.clone() for name, tensor in before.state().items()})
    for _ in range(3):
        add_gradients(second, x, target)
        after.step(0.1)
    assert all(torch.equal(a, b) for a, b in zip(whole, second, strict=True))


def test_state_of_another_optimizer_is_refused():
    optimizer = Adam(copies(case()[0]), weight_decay=0.1)
    with pytest.raises(KeyError):
        optimizer.load_state({"steps": torch.zeros(())})
