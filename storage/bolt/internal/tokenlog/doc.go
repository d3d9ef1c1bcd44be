// Package tokenlog is the log that stands before the file of package bolt: rows of tokens are appended to it, with one
// flush for many, and are put into the file later.
//
// # The file
//
// It has a fixed size, and is written once with zeros when it is made, so that an append changes no more than bytes
// of it: a flush has no length and no place to note. Its first page says whose it is. The blocks follow, each of whole
// pages:
//
//	CRC-32C of all that follows in the block
//	its pages, and its rows (two numbers of 4 bytes)
//	the ID of the log (16 bytes)
//	base: the transaction of the file that it follows; and its number among those of this base, from 1 (8 bytes each)
//	rows: 1 if its token is new, else 0; its key; the length of its value; its value
//	zeros
//
// # Which blocks count
//
// A transaction of the file takes in every row there is, so the blocks that are not in the file yet are those whose
// base is the file's last transaction. The first block after each transaction is written to the front again, over
// what the file has by then. Nothing is written to say so, and nothing can be forgotten.
//
// A block is written when the one before it is on the disk, and nobody is answered before it is. So what follows the
// last whole block is a write that a power cut has torn, and was never acknowledged: unless there is a whole block of
// the same base behind it. Then the one between them is damaged, and [Read] says so; it never leaves out a block.
// Damage of the very last block cannot be told from a torn write.
package tokenlog
