package driver

// Described is implemented by an adapter that says to operators what it keeps records in.
type Described interface {
	// Describe returns the kind, such as PostgreSQL, the version of its server and where that is reached, as
	// host:port/database: "" for what an adapter does not say. It asks no server, and what it returns names no
	// user, password or parameter of an address.
	Describe() (kind, version, at string)
}

// Sized is implemented by an adapter that knows without asking a server how large its store is.
type Sized interface {
	// Size returns the bytes of the store, 0 where they are not known.
	Size() (bytes int64)
}
