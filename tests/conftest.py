"""What several test files need."""

import pytest

from tensoriter import free_list


@pytest.fixture
def fresh_list():
    """An empty free list that wants nothing; afterwards with its bounds as they were."""
    bounds, enabled = free_list.limit(), free_list.enabled
    free_list.enabled = True
    yield
    free_list.limit(**bounds)
    free_list.enabled = enabled
