"""The same work over several processes and machines, on `torch.distributed`."""
