package adminapi

import "strings"

// Cell returns a text for a cell of a CSV file: what a spreadsheet would run as a formula begins with
// an apostrophe, so that it is shown.
func Cell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r\n|%", rune(text[0])) {
		return "'" + text
	}
	return text
}
