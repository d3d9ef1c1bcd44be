package web

import (
	"strings"
	"testing"
)

// RFC 8628 6.1.
func TestCodeMayBeTypedInManyWays(t *testing.T) {
	for _, typed := range []string{
		"BCDF-GHJK", "bcdfghjk", " b c d f g h j k ", "BcDf–GhJk", "BCDF—GHJK", "BCDF－GHJK", "BCDF\u2011GHJK",
		"BCDF\u2212GHJK",
		"ＢＣＤＦ－ＧＨＪＫ", "ｂｃｄｆ　ｇｈｊｋ", "BCDF\u00a0GHJK", "\tBCDF\r\nGHJK", "B-C-D-F-G-H-J-K",
	} {
		if got := UserCodeOf(typed); got != "BCDF-GHJK" {
			t.Errorf("%q is read as %q", typed, got)
		}
	}
	for _, typed := range []string{
		"", "BCDF-GHJ", "BCDF-GHJKL", "ABCD-EFGH", "BCDF-GHJ1", "BCDF_GHJK", "ВСDF-GHJK" /* Cyrillic */, "BCDF-GHJ\u212a",
		/* the Kelvin sign */
		"BCDF-GHJſ", "BCDF-GHJ\u0301K", "BCDF-GHJK\x00", "BCDF-GHJ\xff", strings.Repeat("-", 121) + "BCDFGHJK", "🄱CDF-GHJK",
		"BCDF-GHJK&x=1",
	} {
		if got := UserCodeOf(typed); got != "" {
			t.Errorf("%q is read as %q, want none", typed, got)
		}
	}
}

// A sign-in redirects there, so nothing else may pass for it.
func TestReturnToADeviceIsExact(t *testing.T) {
	for _, query := range []string{DevicePath, DeviceLink("BCDF-GHJK")} {
		if Back(query) != query || Onward(query) != query {
			t.Errorf("%q leads to %q, %q", query, Back(query), Onward(query))
		}
	}
	for _, query := range []string{DevicePath + "?", DevicePath + "/", DevicePath + "?user_code=",
		DevicePath + "?user_code=bcdf-ghjk", DeviceLink("BCDF-GHJK") + "&x", "//oauth/device"} {
		if got := Back(query); got != AuthorizePath+"?"+query {
			t.Errorf("%q leads to %q", query, got)
		}
	}
}
