// Package fulldisk fills the disk below a store, so that each page that it writes is once the first one for which there
// is no room. It mounts file systems, which only root may do.
package fulldisk
