"""The first to name a resource is found as if each had been compared with each."""

from hypothesis import given
from hypothesis import strategies as st

from tidegate.config.claims import Claims
from tidegate.config.resources import Match, Resource

RESOURCES = st.builds(
    Resource,
    st.sampled_from(["mail", "orders"]),
    st.sampled_from([None, "eu-west-1", "us-east-2"]),
    st.sampled_from([None, "111122223333", "444455556666"]),
)


@given(st.lists(RESOURCES, max_size=12), RESOURCES)
def test_it_says_what_a_look_at_each_of_them_says(known: list[Resource], asked: Resource) -> None:
    claims = Claims[int]()
    for owner, resource in enumerate(known):
        claims.add(resource, owner)
    matches = [asked.match(resource) for resource in known]

    claim = claims.first(asked)

    if Match.YES in matches:
        assert claim is not None
        assert (claim.owner, claim.match) == (matches.index(Match.YES), Match.YES)
    elif Match.MAYBE in matches:
        assert claim is not None
        assert (matches[claim.owner], claim.match) == (Match.MAYBE, Match.MAYBE)
    else:
        assert claim is None
