"""dlcc and dlrun from the outside: each module here is one property of the product."""
