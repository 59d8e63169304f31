; RUN: kc-opt farcl-safe-division %s | FileCheck %s
; Divisors that may be 0, or -1 under MIN, are replaced by 1; harmless constants are left alone.

; CHECK-LABEL: @signed(
; CHECK: icmp eq i32 [[B:%.*]], 0{{$}}
; CHECK-DAG: icmp eq i32 {{%.*}}, -2147483648
; CHECK-DAG: icmp eq i32 [[B]], -1
; CHECK: [[SAFE:%.*]] = select i1 {{%.*}}, i32 1, i32 [[B]]
; CHECK: sdiv i32 {{%.*}}, [[SAFE]]
define i32 @signed(i32 %a, i32 %b) {
  %r = sdiv exact i32 %a, %b
  ret i32 %r
}

; CHECK-LABEL: @unsigned_vector(
; CHECK: [[BAD:%.*]] = icmp eq <4 x i8> [[B:%.*]], zeroinitializer
; CHECK-NOT: icmp
; CHECK: select <4 x i1> [[BAD]], <4 x i8> splat (i8 1), <4 x i8> [[B]]
define <4 x i8> @unsigned_vector(<4 x i8> %a, <4 x i8> %b) {
  %r = urem <4 x i8> %a, %b
  ret <4 x i8> %r
}

; CHECK-LABEL: @constants(
; CHECK-NOT: select
; CHECK: sdiv i32 %a, 7
; CHECK: udiv i32 %a, -1
; CHECK: ret
define i32 @constants(i32 %a) {
  %x = sdiv i32 %a, 7
  %y = udiv i32 %a, -1
  %r = add i32 %x, %y
  ret i32 %r
}

; CHECK-LABEL: @minus_one(
; CHECK: select i1
; CHECK: srem
define i32 @minus_one(i32 %a) {
  %r = srem i32 %a, -1
  ret i32 %r
}
