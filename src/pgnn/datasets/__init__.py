"""The data sets of the paper, by name: `pgnn.datasets.load("communities", seed=0)`."""

from pgnn.datasets.catalogue import DatasetInfo as DatasetInfo
from pgnn.datasets.catalogue import describe as describe
from pgnn.datasets.catalogue import load as load
from pgnn.datasets.email import load_email as load_email
from pgnn.datasets.features import Standardize as Standardize
from pgnn.datasets.features import with_constant_features as with_constant_features
from pgnn.datasets.features import with_one_hot_features as with_one_hot_features
from pgnn.datasets.ppi import load_ppi as load_ppi
from pgnn.datasets.protein import Keep as Keep
from pgnn.datasets.protein import load_protein as load_protein
from pgnn.datasets.synthetic import communities as communities
from pgnn.datasets.synthetic import grid as grid
