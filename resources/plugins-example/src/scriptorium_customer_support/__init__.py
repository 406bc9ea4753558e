"""Customer support: users, tenants and tickets kept as notes in a Scriptorium vault."""

from app.toolkit.plugins import Plugin
from app.toolkit.registry import AccessLevel, Category
from scriptorium_customer_support.tools import tenant, ticket, user

PLUGIN = Plugin(
    categories=(Category("customer_support", "Customer support", AccessLevel.READ_WRITE),),
    tools=(user, tenant, ticket),
)
