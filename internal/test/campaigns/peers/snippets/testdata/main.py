# This program signs a user in with the code beside it, and prints who that is.
import signin

url, kept = signin.begin()
print(url, flush=True)
print(signin.finish(input(), kept)["sub"])
