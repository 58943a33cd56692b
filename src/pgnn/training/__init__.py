"""From a graph to a trained model: splits, batches, the loop over epochs, run directories."""
