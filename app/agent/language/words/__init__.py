"""The words of requests, of a language and of a vault, and the labels and answers written with them."""
