package driver

// Summed is implemented by an adapter that keeps a checksum with each row, of its key and its value together, and
// answers a call that needs a row whose checksum does not match with a [Damaged]; or whose rows do not outlast the
// process. Documents of other adapters get a checksum from package storage: white space behind the JSON in Data.
type Summed interface {
	// Summed does nothing: it says that documents need no checksum from package storage.
	Summed()
}

// Damaged is implemented by the error for a row that is not what was written. It is a failure and never a
// verdict: the row does not count as absent, nor as spent or revoked.
type Damaged interface {
	error
	// Damaged returns what was damaged, to be shown to an operator: the table, and the key in it.
	Damaged() (table, key string)
}
