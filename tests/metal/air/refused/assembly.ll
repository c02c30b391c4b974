; REFUSED: air: function 'k': AIR has no assembly:  call void asm
define void @k() {
  call void asm sideeffect "nop", ""()
  ret void
}
