"""AdamW: the same steps as torch.optim.AdamW."""

import torch

from pgnn.training.fit_heads import AdamW


def test_adamw_steps_as_torch_does() -> None:
    generator = torch.Generator().manual_seed(0)
    start = [torch.randn(3, 4, generator=generator), torch.randn(4, generator=generator)]
    target = torch.randn(2, 4, generator=generator)
    x = torch.randn(2, 3, generator=generator)

    ours = [p.clone().requires_grad_() for p in start]
    theirs = [p.clone().requires_grad_() for p in start]
    optimizer = AdamW(ours, [True, False], weight_decay=0.1)
    reference = torch.optim.AdamW(
        [{"params": theirs[:1], "weight_decay": 0.1}, {"params": theirs[1:], "weight_decay": 0.0}]
    )
    for rate in (0.1, 0.05, 0.01):
        for weight, bias in (ours, theirs):
            ((x @ weight + bias - target) ** 2).sum().backward()
        optimizer.step(rate)
        for group in reference.param_groups:
            group["lr"] = rate
        reference.step()
        reference.zero_grad()
    torch.testing.assert_close(ours, theirs)
    assert all(p.grad is None for p in ours)
