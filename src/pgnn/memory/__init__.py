"""A limit to the memory of this process, which is kept: large arrays then lie in a file."""

from pgnn.memory.limit import is_limited as is_limited
from pgnn.memory.limit import least_needed as least_needed
from pgnn.memory.limit import memory_limit as memory_limit
from pgnn.memory.limit import more_needed as more_needed
from pgnn.memory.limit import rows_at_once as rows_at_once
from pgnn.memory.limit import use_limit_here as use_limit_here
