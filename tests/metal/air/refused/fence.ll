; REFUSED: air: function 'k': AIR has no such instruction:  fence seq_cst
define void @k() {
  fence seq_cst
  ret void
}
