; RUN: kc-opt farcl-check-source %s | FileCheck %s

; CHECK: error: function 'odd' is recursive
; CHECK: error: undefined function 'nobody', called from 'caller'
; CHECK: error: function 'assembly' has inline assembly
; CHECK: error: function 'pointer' calls through a function pointer
; CHECK: error: function 'hungry' needs 1048576 bytes of private memory
; CHECK-NOT: error
define i32 @even(i32 %x) {
  %r = call i32 @odd(i32 %x)
  ret i32 %r
}
define i32 @odd(i32 %x) {
  %r = call i32 @even(i32 %x)
  ret i32 %r
}
declare void @nobody()
declare i64 @_Z13get_global_idj(i32)
define void @caller() {
  call void @nobody()
  %i = call i64 @_Z13get_global_idj(i32 0)
  ret void
}
define void @assembly() {
  call void asm sideeffect "hlt", ""()
  ret void
}
define void @pointer(ptr %f) {
  call void %f()
  ret void
}
define void @hungry() {
  %x = alloca [1048576 x i8]
  ret void
}
