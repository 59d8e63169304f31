; RUN: kc-opt farcl-no-poison %s | FileCheck %s

; CHECK-LABEL: @store(
; CHECK: store i32 0, ptr %p
; CHECK: br i1 false
define void @store(ptr %p) {
  store i32 poison, ptr %p
  br i1 undef, label %a, label %b
a:
  ret void
b:
  ret void
}

; Placeholders of vectors under construction stay.
; CHECK-LABEL: @vector(
; CHECK: insertelement <2 x float> poison, float %x, i64 0
; CHECK: shufflevector <2 x float> {{%.*}}, <2 x float> poison
define <2 x float> @vector(float %x) {
  %i = insertelement <2 x float> poison, float %x, i64 0
  %s = shufflevector <2 x float> %i, <2 x float> poison, <2 x i32> zeroinitializer
  ret <2 x float> %s
}

; CHECK-LABEL: @convert(
; CHECK: [[I:%.*]] = fptosi float %x to i32
; CHECK: [[F:%.*]] = freeze i32 [[I]]
; CHECK: ret i32 [[F]]
define i32 @convert(float %x) {
  %i = fptosi float %x to i32
  ret i32 %i
}
