"""The fixture models that the generators write or read.

What each one is there for is said in its "covers" line, which also goes into its golden.json.
"""

from dense_fixtures import DENSE
from form_fixtures import FORMS
from moe_fixtures import MIXTURES

FIXTURES = (*DENSE, *FORMS, *MIXTURES)
