package urlpath

import "testing"

func TestSetCoversWhatItsPathsCover(t *testing.T) {
	lists := [][]string{
		nil, {"/"}, {""}, {"/a"}, {"/a/"}, {"/oauth/token", "/oauth/register/", "/api/v1/", "/.well-known/"},
		{"/oauth/token", "/"}, {"//"}, {"a", "ab/"}, {"/\u00e4/"},
	}
	paths := []string{
		"", "/", "//", "*", "a", "ab", "ab/", "/a", "/a/", "/a/b", "/ab", "/b", "/oauth", "/oauth/", "/oauth/token",
		"/oauth/token/", "/oauth/tokens", "/oauth/register",
		"/oauth/register/", "/oauth/register/x", "/api/v1", "/api/v1/x", "/api/v2/x", "/.well-known/x", "/\u00e4/x",
		"/\u00e4",
	}
	for _, list := range lists {
		s := NewSet(list)
		for _, path := range paths {
			if got, want := s.Covers(path), Covers(list, path); got != want {
				t.Errorf("of %q Covers(%q) = %t, want %t", list, path, got, want)
			}
		}
	}
}
