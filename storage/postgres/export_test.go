package postgres

// Texts returns the statements of the Store, for those who send them without it.
func (s *Store) Texts() (exchange, judge string) { return s.texts[exchangeToken], s.texts[judgeToken] }

// Given returns the arguments of an exchange.
var ColumnsOf, Stamp = columnsOf, stamp
