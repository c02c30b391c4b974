; REFUSED: air: function 'k': AIR has no such instruction:  %old = atomicrmw add
define void @k(ptr addrspace(1) %p) {
  %old = atomicrmw add ptr addrspace(1) %p, i32 1 seq_cst, align 4
  ret void
}
