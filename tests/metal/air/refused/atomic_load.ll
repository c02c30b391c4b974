; REFUSED: air: function 'k': AIR has no such instruction:  %x = load atomic
define i32 @k(ptr addrspace(1) %p) {
  %x = load atomic i32, ptr addrspace(1) %p monotonic, align 4
  ret i32 %x
}
