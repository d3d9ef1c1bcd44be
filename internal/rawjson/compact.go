package rawjson

// AppendCompact appends a value without the blanks between its parts. The text is valid: Check has
// seen it.
func AppendCompact(to, text []byte) []byte {
	from := 0 // what comes before is written
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = skip(text, i) - 1
		case ' ', '\n', '\t', '\r':
			to = append(to, text[from:i]...)
			from = i + 1
		}
	}
	return append(to, text[from:]...)
}
